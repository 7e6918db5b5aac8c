/** What it means that the thread of a database cannot be started. */
export const NO_THREAD_MEANS: string =
  "The database's thread cannot be started, so the database works in the " +
  "program's own, which waits for each write";

/** What to do about it. */
export const NO_THREAD_ADVICE: string =
  'Leave the package out of the bundle, as serverExternalPackages: ["@rampkit/' +
  'onramp"] does for Next and external: ["@rampkit/onramp"] for esbuild; or ' +
  "bundle @rampkit/onramp/thread as a file of its own, and give its address as " +
  "threadModule";

let isPrinted = false;

/** Prints it to standard error, once per process. */
export function warnOfNoThread(reason: string): void {
  if (isPrinted) return;
  isPrinted = true;
  console.warn(`rampkit: ${NO_THREAD_MEANS}: ${reason}. ${NO_THREAD_ADVICE}`);
}
