import { UsageError } from "../../settings/errors.ts";
import { isLoopback } from "../../server/http/listening.ts";
import type {
  Access,
  KnownTokens,
} from "../../server/console/access/access.ts";

/** Flags that say who may open the console. */
export interface AccessFlags {
  /** Address to listen on. */
  readonly host: string;
  /** The flag that says so. @default {"--host"} */
  readonly hostFlag?: string;
  /** Whether everybody may acknowledge and note. */
  readonly operate?: boolean;
}

/**
 * Decides who may open the console: with tokens anyone who holds one, and
 * without them anyone who works on this machine.
 *
 * @param tokens Null where none are configured.
 * @throws {UsageError} When it would be open to others without a token.
 */
export function accessOf(
  { host, operate, hostFlag = "--host" }: AccessFlags,
  tokens: KnownTokens | null,
): Access {
  if (tokens !== null) {
    if (operate === true) {
      throw new UsageError(
        "Wrong --operate: people sign in, so their tokens decide; give out " +
          "operate:TOKEN in RAMPKIT_API_TOKENS",
      );
    }
    return { kind: "tokens", tokens };
  }
  if (isLoopback(host)) return { kind: "open", operates: operate === true };
  throw new UsageError(
    `Wrong ${hostFlag}: "${host}" is reached from other machines, and without a ` +
      "token the console opens on this machine alone; set " +
      `RAMPKIT_API_TOKENS=read:TOKEN, or leave ${hostFlag} out`,
  );
}
