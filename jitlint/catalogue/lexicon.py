"""Sets of library names that the analysis asks about, as data (layer: ``catalogue``).

Written in ``data/lexicon.toml``, where each is explained. What belongs to one function is its entry's business and not found here.
"""

from __future__ import annotations

from functools import cache

import msgspec

from jitlint.catalogue.derivative_words import Gradients
from jitlint.catalogue.load import compiled


class Arrays(msgspec.Struct, frozen=True):
    """Arrays: their dtypes, sizes, methods and attributes."""

    dtypes: dict[str, str]
    sizes: dict[str, str]
    real: frozenset[str]
    complex: frozenset[str]
    convolving: frozenset[str]
    belonging: dict[str, str]
    drawn: dict[str, str]
    of_arrays: frozenset[str]
    gives_each_once: frozenset[str]
    gives_again: frozenset[str]
    hands_elements_on: frozenset[str]
    keeps_numbers: frozenset[str]
    keeps_all: frozenset[str]
    whole_numbers: frozenset[str]
    same_number: dict[str, str]
    starts_at: dict[str, str]
    padding: dict[str, str]
    padding_second: frozenset[str]
    takes_in: frozenset[str]
    fills: frozenset[str]
    makes_alike: frozenset[str]
    called_again: frozenset[str]
    constant_modules: frozenset[str]
    constants: dict[str, str]
    converters: dict[str, str]
    in_place_methods: frozenset[str]
    host_in_place_methods: frozenset[str]
    in_place_functions: frozenset[str]
    traces_arguments: frozenset[str]
    pure_builtins: frozenset[str]
    pure_functions: frozenset[str]
    selecting: frozenset[str]
    left_out: frozenset[str]
    pure_maps: frozenset[str]
    pure_modules: frozenset[str]
    pure_methods: frozenset[str]
    pure_updates: frozenset[str]
    counting_attributes: frozenset[str]
    generators: frozenset[str]
    rule_methods: frozenset[str]
    joins: dict[str, str]
    square: frozenset[str]
    starts: frozenset[str]
    windows: frozenset[str]
    refuses: dict[str, str]
    alike: dict[str, str]
    integers: dict[str, str]
    whole: dict[str, str]
    one_shape: dict[str, str]
    one_dtype: dict[str, str]
    products: frozenset[str]
    draws_integers: frozenset[str]
    draws_places: frozenset[str]
    unread: frozenset[str]
    takes_keys: frozenset[str]
    axes: dict[str, str]
    moves: dict[str, str]
    foreign_parameters: dict[str, str]
    no_number: dict[str, str]
    any_dtype: frozenset[str]
    single_axis: frozenset[str]
    sorts_keys: frozenset[str]
    dtype_questions: frozenset[str]
    averages: frozenset[str]
    largest: frozenset[str]
    sized_by: dict[str, str]
    averaging: frozenset[str]
    probabilities: dict[str, str]
    scores: dict[str, str]


class Layers(msgspec.Struct, frozen=True):
    """Layers of libraries: which sizes they take and give."""

    forms: dict[str, str]
    parameters: dict[str, tuple[str, ...]]
    pools: dict[str, tuple[str, ...]]
    odd: frozenset[str]
    dtypes: frozenset[str]
    parts: frozenset[str]
    besides: frozenset[str]
    updates: frozenset[str]


class Types(msgspec.Struct, frozen=True):
    """Classes that ``isinstance``, annotations and bases speak of, and what is a module."""

    modules: frozenset[str]
    registering: frozenset[str]
    python: dict[str, tuple[str, ...]]
    containers: dict[str, tuple[str, ...]]
    callables: frozenset[str]
    functions: frozenset[str]
    partials: frozenset[str]
    tracers: frozenset[str]
    host_arrays: frozenset[str]
    no_arrays: frozenset[str]
    no_jax_arrays: frozenset[str]
    holders: frozenset[str]
    scalars: dict[str, tuple[str, ...]]
    maps: frozenset[str]
    sequences: frozenset[str]
    trees: frozenset[str]
    arrays_or_numbers: frozenset[str]
    keys: frozenset[str]
    harmless_bases: frozenset[str]
    declaring_bases: frozenset[str]
    plain_bases: frozenset[str]
    abstract_bases: frozenset[str]
    number_enums: frozenset[str]
    harmless_decorators: tuple[str, ...]
    familiar: frozenset[str]
    special_forms: frozenset[str]
    freezing: frozenset[str]
    frozen: frozenset[str]


class Containers(msgspec.Struct, frozen=True):
    """Methods of Python's containers, by what they do."""

    changing: frozenset[str]
    changing_sequences: frozenset[str]
    changing_sets: frozenset[str]
    changing_maps: frozenset[str]
    growing: frozenset[str]
    shrinking: frozenset[str]
    filling: frozenset[str]
    viewing: frozenset[str]
    refilling: frozenset[str]
    taking: frozenset[str]
    common: frozenset[str]
    of_trees: frozenset[str]
    shared_with_arrays: frozenset[str]


class Buffers(msgspec.Struct, frozen=True):
    """What reads the numbers of an array, and what does not."""

    donors: frozenset[str]
    making: frozenset[str]
    metadata: frozenset[str]
    reading_methods: frozenset[str]
    reading_functions: frozenset[str]
    reading_modules: tuple[str, ...]
    shape_only: frozenset[str]
    same_object: frozenset[str]
    holding: frozenset[str]
    keeping: frozenset[str]
    optimisers: tuple[str, ...]
    layers: tuple[str, ...]
    tree_maps: frozenset[str]


class Timing(msgspec.Struct, frozen=True):
    """Clocks, work and what waits for it."""

    clocks: frozenset[str]
    stopwatches: frozenset[str]
    profile_starts: frozenset[str]
    profile_stops: frozenset[str]
    profiled_blocks: frozenset[str]
    placing: frozenset[str]
    work: tuple[str, ...]
    filling: tuple[str, ...]
    cheap: frozenset[str]
    trees: tuple[str, ...]
    tree_maps: frozenset[str]
    tree_parts: frozenset[str]
    waiting: frozenset[str]
    fetching: frozenset[str]
    waiting_methods: frozenset[str]
    waiting_words: tuple[str, ...]
    first: frozenset[str]
    plain: frozenset[str]
    passive: frozenset[str]
    synchronous: frozenset[str]
    excluding: frozenset[str]


class Compilation(msgspec.Struct, frozen=True):
    """What compiles, and how shapes and numbers come to change."""

    unrolling: frozenset[str]
    transforms: frozenset[str]
    control_flow: dict[str, tuple[str, ...]]
    functions: frozenset[str]
    by_structure: tuple[str, ...]
    run_once: frozenset[str]
    preparing: frozenset[str]
    preparing_data: frozenset[str]
    at_compile_time: frozenset[str]
    options: frozenset[str]
    variables: frozenset[str]
    at_import: frozenset[str]
    starting: frozenset[str]
    wide: frozenset[str]
    same_number: frozenset[str]
    clipping: frozenset[str]
    computing: tuple[str, ...]
    not_computing: frozenset[str]
    computing_methods: frozenset[str]
    of_closures: frozenset[str]
    unchecked: frozenset[str]
    draws: frozenset[str]
    counting: frozenset[str]
    growing: frozenset[str]
    joining: frozenset[str]
    makers: dict[str, tuple[str, ...]]
    giving: frozenset[str]
    same_shape: frozenset[str]
    hashes_function: frozenset[str]
    weighty: frozenset[str]


class Captures(msgspec.Struct, frozen=True):
    """How large an array is that a module makes, and whose attributes are looked after by a library."""

    modules: tuple[str, ...]
    by_shape: frozenset[str]
    by_size: frozenset[str]
    by_numbers: frozenset[str]
    random: frozenset[str]
    tracked_roles: frozenset[str]
    refusing_roles: frozenset[str]
    lifting: frozenset[str]
    inline: frozenset[str]
    settings: frozenset[str]
    streams: frozenset[str]
    measuring: frozenset[str]
    updating: frozenset[str]
    copying: frozenset[str]
    reporting: frozenset[str]
    pytree_roles: frozenset[str]
    preparing: frozenset[str]
    stack_methods: frozenset[str]
    first_methods: frozenset[str]
    training: frozenset[str]


class Keys(msgspec.Struct, frozen=True):
    """PRNG keys: who makes them, who consumes none."""

    makers: frozenset[str]
    harmless: frozenset[str]
    copying: frozenset[str]
    gathering: frozenset[str]
    filling: frozenset[str]
    seeds: frozenset[str]
    pairing: frozenset[str]
    lasting_roles: frozenset[str]
    replacing: frozenset[str]
    constant_initialisers: frozenset[str]
    initialising: frozenset[str]
    drawing: frozenset[str]
    streamed: frozenset[str]
    only_variables: frozenset[str]
    output_streams: frozenset[str]
    copies: frozenset[str]
    setting_up: frozenset[str]
    stepping: frozenset[str]
    drawn_by_name: frozenset[str]
    silencing: frozenset[str]
    enabling: frozenset[str]
    placeholders: frozenset[str]
    measuring: frozenset[str]
    changing: frozenset[str]
    restoring: frozenset[str]
    evaluating: frozenset[str]
    exploring: frozenset[str]
    varied: frozenset[str]
    inverses: frozenset[str]
    references: frozenset[str]
    halves: frozenset[str]
    derivatives: frozenset[str]
    choosing: frozenset[str]
    comparing: frozenset[str]
    kept: frozenset[str]
    called: frozenset[str]


class Errors(msgspec.Struct, frozen=True):
    """Exceptions, and what expects them."""

    expecting: frozenset[str]
    expecting_methods: frozenset[str]
    expecting_words: frozenset[str]
    tracing: frozenset[str]
    of_leaks: frozenset[str]
    everything: frozenset[str]
    of_tracers: frozenset[str]
    of_values: frozenset[str]
    quiet: tuple[str, ...]
    harmless: tuple[str, ...]
    of_misfits: frozenset[str]
    of_missing: frozenset[str]
    of_versions: frozenset[str]
    static_attributes: frozenset[str]
    static_calls: frozenset[str]


class Evidence(msgspec.Struct, frozen=True):
    """Words in source text that tell what kind of thing a parameter is."""

    array_attributes: frozenset[str]
    shared_attributes: frozenset[str]
    fed_with_numbers: frozenset[str]
    map_attributes: frozenset[str]
    sequence_attributes: frozenset[str]
    array_roots: frozenset[str]
    array_modules: frozenset[str]
    no_arrays: frozenset[str]
    run_functions: frozenset[str]
    roots: dict[str, str]
    numpy_names: frozenset[str]
    tracer_words: tuple[str, ...]
    first_runs: frozenset[str]
    backends: frozenset[str]
    twins: frozenset[str]
    kind_words: frozenset[str]
    form_words: frozenset[str]


class Python(msgspec.Struct, frozen=True):
    """What functions and methods of the standard library give, whatever their arguments are."""

    results: dict[str, str]
    numbers: dict[str, str]
    text: dict[str, str]
    identities: frozenset[str]
    counted: frozenset[str]
    counting_leaves: frozenset[str]
    iterating: frozenset[str]
    asking_kinds: frozenset[str]
    reading: frozenset[str]
    only_asking: frozenset[str]
    own_checks: dict[str, str]
    apart: frozenset[str]


class Tests(msgspec.Struct, frozen=True):
    """What test runners know: how fixtures are marked, rows of parameters written, what runs before a test, and which files measure."""

    fixtures: frozenset[str]
    parametrize: frozenset[str]
    params: frozenset[str]
    rows: frozenset[str]
    row_alone: frozenset[str]
    named_rows: frozenset[str]
    products: frozenset[str]
    request: tuple[str, ...]
    set_up: tuple[str, ...]
    left_out: frozenset[str]
    odd_options: frozenset[str]
    leaving: frozenset[str]
    benchmarks: frozenset[str]


class Contracts(msgspec.Struct, frozen=True):
    """What objects of libraries need for their methods."""

    by_name: frozenset[str]
    wishes: frozenset[str]
    hands_on: frozenset[str]
    needs_parameters: frozenset[str]
    complete: frozenset[str]
    clipping: frozenset[str]
    schedules: frozenset[str]
    searching: frozenset[str]
    needs_value: frozenset[str]
    of_matrices: frozenset[str]
    initialised_by: frozenset[str]
    making_initialisers: frozenset[str]
    plain_initialisers: frozenset[str]
    copies_parameters: frozenset[str]
    copies_given: dict[str, str]
    composing: frozenset[str]
    labelled: frozenset[str]
    choosing: frozenset[str]
    running: frozenset[str]
    compact_layers: frozenset[str]
    may_drop: frozenset[str]
    makes_parameters: frozenset[str]
    holds_functions: frozenset[str]
    holds_flags: frozenset[str]
    splitting: frozenset[str]
    keeps_statistics: frozenset[str]
    takes_statistics: frozenset[str]
    holds_keys: frozenset[str]
    pairs_functions: frozenset[str]
    holds_arrays: frozenset[str]
    makes_with: dict[str, str]
    draws_from: dict[str, str]
    lifting: frozenset[str]
    chooses_stream: frozenset[str]
    stream_methods: frozenset[str]
    asks_since: dict[str, tuple[str, ...]]
    collectives: dict[str, str]
    axis_layers: dict[str, str]
    resolving: frozenset[str]
    renewing: frozenset[str]
    averaging: frozenset[str]
    masks: frozenset[str]
    settling: frozenset[str]
    spreading: frozenset[str]
    alike: tuple[str, ...]
    meshes: frozenset[str]
    epochs: frozenset[str]
    begins_anew: frozenset[str]
    within: frozenset[str]


class Counts(msgspec.Struct, frozen=True):
    """How many results functions give."""

    changing: frozenset[str]
    with_aux: frozenset[str]
    each: frozenset[str]
    parts: frozenset[str]
    fixed: dict[str, str]


class Modes(msgspec.Struct, frozen=True):
    """Modes of models, for training and for evaluation."""

    setting: dict[str, str]
    metrics: dict[str, str]
    layers: frozenset[str]
    told_by: frozenset[str]
    telling: frozenset[str]
    keyed: frozenset[str]
    turning_off: frozenset[str]
    changing: frozenset[str]
    off_by: frozenset[str]
    several: frozenset[str]
    judging: frozenset[str]
    applying: frozenset[str]
    asked_by: dict[str, str]


class Lexicon(msgspec.Struct, frozen=True):
    """All of them, by topic."""

    arrays: Arrays
    layers: Layers
    types: Types
    containers: Containers
    buffers: Buffers
    timing: Timing
    compilation: Compilation
    captures: Captures
    keys: Keys
    errors: Errors
    evidence: Evidence
    python: Python
    tests: Tests
    contracts: Contracts
    counts: Counts
    gradients: Gradients
    modes: Modes


@cache
def lexicon() -> Lexicon:
    """The names shipped with jitlint."""
    return msgspec.msgpack.decode(compiled().lexicon, type=Lexicon)
