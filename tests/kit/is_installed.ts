/**
 * Whether a program is on this machine, and tests may start it. Tests of
 * what may be missing are ignored then.
 *
 * @param program Its name, which understands `--version`.
 */
export async function isInstalled(program: string): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, {
      args: ["--version"],
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}
