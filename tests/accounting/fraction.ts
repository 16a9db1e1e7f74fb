/** An exact number: numerator over a positive denominator. */
export class Fraction {
  constructor(
    readonly n: bigint,
    readonly d: bigint = 1n,
  ) {}
  static of(n: bigint | number, d: bigint | number = 1): Fraction {
    let [a, b] = [BigInt(n), BigInt(d)];
    if (b < 0n) [a, b] = [-a, -b];
    let [x, y] = [a < 0n ? -a : a, b];
    while (y !== 0n) [x, y] = [y, x % y];
    return x === 0n ? new Fraction(0n, 1n) : new Fraction(a / x, b / x);
  }
  plus(o: Fraction): Fraction {
    return Fraction.of(this.n * o.d + o.n * this.d, this.d * o.d);
  }
  minus(o: Fraction): Fraction {
    return Fraction.of(this.n * o.d - o.n * this.d, this.d * o.d);
  }
  times(o: Fraction): Fraction {
    return Fraction.of(this.n * o.n, this.d * o.d);
  }
  over(o: Fraction): Fraction {
    return Fraction.of(this.n * o.d, this.d * o.n);
  }
  /** -1, 0 or 1. */
  compare(o: Fraction): number {
    const difference = this.n * o.d - o.n * this.d;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  isZero(): boolean {
    return this.n === 0n;
  }
}

export const ZERO = Fraction.of(0);
export const ONE = Fraction.of(1);
export const HALF = Fraction.of(1, 2);
export const min = (a: Fraction, b: Fraction): Fraction => (a.compare(b) <= 0 ? a : b);
export const sum = (all: readonly Fraction[]): Fraction => all.reduce((total, one) => total.plus(one), ZERO);
