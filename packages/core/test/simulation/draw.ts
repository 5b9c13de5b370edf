import { PCGRandom } from "effect/Utils"

/** The one source of chance in a run: the same seed draws the same. */
export class Draw {
  private readonly random: PCGRandom

  constructor(readonly seed: number) {
    this.random = new PCGRandom(Math.floor(seed / 2 ** 32), seed >>> 0)
  }

  /** A whole number from 0 to `count - 1`. */
  below(count: number): number {
    return count <= 1 ? 0 : this.random.integer(count)
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** True so often, from 0 (never) to 1 (always). */
  chance(share: number): boolean {
    return share > 0 && this.random.number() < share
  }

  pick<A>(list: readonly [A, ...ReadonlyArray<A>]): A {
    return list[this.below(list.length)] as A
  }

  /** One of a list that may be empty. */
  any<A>(list: ReadonlyArray<A>): A | undefined {
    return list[this.below(list.length)]
  }

  /** One of the names, each as often as its weight says against the others. */
  weighted<Name extends string>(weights: { readonly [Key in Name]?: number }): Name {
    const entries = Object.entries(weights) as Array<[Name, number]>
    let left = this.random.number() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) {
      left -= weight
      if (left < 0 && weight > 0) return name
    }
    return (entries.findLast(([, weight]) => weight > 0) ?? entries[0]!)[0]
  }
}
