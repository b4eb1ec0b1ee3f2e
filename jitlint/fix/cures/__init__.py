"""What to write for one finding, by the rule's code (layer: ``fix``).

A cure looks at one finding in its file and answers with a patch, or None where it does not know: the forms that it
understands are few and exact. Several cures of one rule are asked in order. Each rule says in its `remedy` what to expect.
"""

from __future__ import annotations

from collections.abc import Mapping

from jitlint.fix.cures import (
    arrays,
    branches,
    compiled,
    conds,
    loops,
    methods,
    numbers,
    others,
    prints,
    scans,
    shapes,
    sizes,
    truths,
)
from jitlint.fix.site import Cure

CURES: Mapping[str, tuple[Cure, ...]] = {
    "JIT004": (others.silences_nothing,),
    "JIT101": (compiled.flag_made_static, conds.called, branches.branched, conds.separated),
    "JIT102": (loops.repeated,),
    "JIT103": (truths.asserted,),
    "JIT104": (conds.called, truths.asked, conds.separated),
    "JIT106": (loops.counted, scans.scanned, compiled.made_static),
    "JIT107": (numbers.listed_numbers, compiled.made_static),
    "JIT108": (sizes.of_shape, prints.shown_cast, numbers.cast),
    "JIT109": (numbers.of_numpy,),
    "JIT110": (prints.formatted,),
    "JIT112": (numbers.silently_wrong,),
    "JIT201": (sizes.of_shape, compiled.made_static),
    "JIT202": (shapes.reduced,),
    "JIT203": (shapes.updated,),
    "JIT205": (shapes.sliced, compiled.made_static),
    "JIT206": (loops.counted, scans.unrolled),
    "JIT301": (prints.printed,),
    "JIT302": (prints.logged,),
    "JIT401": (arrays.stored, arrays.masked),
    "JIT402": (arrays.changed_in_place,),
    "JIT403": (arrays.dropped,),
    "JIT404": (arrays.listed,),
    "JIT406": (arrays.indexed_by_list,),
    "JIT501": (compiled.hoisted,),
    "JIT502": (compiled.made_once, methods.of_module, methods.kept_by_object),
    "JIT503": (compiled.hashable,),
    "JIT504": (compiled.named_right,),
    "JIT507": (compiled.argument_made_static,),
    "JIT508": (methods.taken_out, methods.made_static),
    "JIT510": (compiled.not_waited_for,),
    "JIT511": (compiled.replaced,),
    "JIT601": (others.split,),
    "JIT701": (others.waited,),
    "JIT702": (others.renamed,),
}

STUBS: Mapping[str, Cure] = {"JIT204": sizes.sized}
"""What leaves something to be filled in. It is shown, and offered in editors; no command writes it."""
