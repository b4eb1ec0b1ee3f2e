"""The fixtures run under real JAX: every mark is proved, every good case runs clean."""
