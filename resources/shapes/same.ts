/**
 * `true` where two types describe the same JSON. It holds a schema equal to a
 * type that is written by hand: a field, an option or a case that only one of
 * them has makes it `false`, and `true satisfies Same<...>` does not compile.
 */
export type Same<A, B> = [Plain<A>] extends [Plain<B>]
  ? [Plain<B>] extends [Plain<A>] ? true : false
  : false;

/** The type without `readonly`, where optional fields are marked. */
type Plain<T> = T extends string | number | boolean | null | undefined ? T
  : T extends readonly (infer One)[] ? Plain<One>[]
  : {
    -readonly [
      Key in keyof T as [Exclude<T[Key], undefined>] extends [never] ? never
        : Key
    ]-?: object extends Pick<T, Key> ? { optional: Plain<T[Key]> }
      : Plain<T[Key]>;
  };
