"""What a trial costs, measured beside its floors and beside what one would write without this
package: `python -m benchmarks` runs all of it. docs/benchmarks.md says how to read it."""
