/** A folder of a test; it goes, with all that is in it, when the test ends. */
export interface TemporaryFolder extends AsyncDisposable {
  /** Where it is. */
  readonly path: string;
}

/** Makes a folder of its own for a test: `await using` it. */
export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await Deno.makeTempDir({ prefix: "rampkit-test-" });
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
