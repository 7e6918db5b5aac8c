import { messageOf } from "../../core/guards.ts";
import { SpoolError } from "./spool_error.ts";

/** Awaits `work`; what it throws becomes a {@linkcode SpoolError}. */
export async function onDisk<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw diskError(what, error);
  }
}

/** The error of a failed disk operation. */
export function diskError(what: string, cause: unknown): SpoolError {
  if (cause instanceof SpoolError) return cause;
  const why = messageOf(cause);
  return new SpoolError("disk", `${what}: ${why}`, { cause });
}
