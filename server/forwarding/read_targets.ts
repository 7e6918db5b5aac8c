import { messageOf } from "../../core/guards.ts";
import { matcher } from "../../ledger/for_resources.ts";
import type { TransitionPattern } from "../../ledger/mod.ts";
import type { Config } from "../../core/settings/config.ts";
import { type GivenTarget, VARIABLES } from "../../core/settings/settings.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { readForwardSecrets } from "./transition_message.ts";
import { readTargetUrl, targetName } from "./post_webhook.ts";

/** Where transitions are sent, and which. */
export interface Target {
  /** Name of its subscription: a restart goes on where it was. */
  readonly name: string;
  /** Where it is sent. */
  readonly url: URL;
  /** What it is sent. */
  readonly on: readonly TransitionPattern[];
}

/** Targets, and the secrets that sign what is sent to them. */
export interface Forwarding {
  readonly targets: readonly Target[];
  readonly secrets: readonly string[];
}

/**
 * Reads where to forward to.
 *
 * @throws {UsageError} When a target, a pattern or a secret is wrong or missing.
 */
export function readForwarding(
  { forwardTo, forwardSecrets }: Pick<Config, "forwardTo" | "forwardSecrets">,
): Forwarding | undefined {
  const [first] = forwardTo;
  if (first === undefined) return undefined;
  const targets = forwardTo.map((one) => usage(() => readTarget(one)));
  for (const [at, { name }] of targets.entries()) {
    if (targets.findIndex((one) => one.name === name) === at) continue;
    throw new UsageError(
      `Wrong ${first.from}: ${
        name.slice(PREFIX.length)
      } is named twice; write ` +
        "its patterns behind one address",
    );
  }
  const secrets = usage(() =>
    readForwardSecrets(forwardSecrets ?? "", VARIABLES.forwardSecrets)
  );
  if (secrets.length > 0) return { targets, secrets };
  throw new UsageError(
    "Missing setting: the secret that forwarded webhooks are signed with is " +
      `not known; set ${VARIABLES.forwardSecrets} (a fresh one: ` +
      'echo "whsec_$(openssl rand -base64 32)")',
  );
}

/** Prefix of the names of targets. */
const PREFIX = "forward:";

function readTarget({ from, text }: GivenTarget): Target {
  const [address = "", ...patterns] = text.split(/\s+/);
  const url = readTargetUrl(address, from);
  const on = (patterns.length === 0 ? ["*"] : patterns) as TransitionPattern[];
  try {
    matcher(on);
  } catch (error) {
    // What it says of unlisted() is for programs.
    const [why = ""] = messageOf(error).split("; a status that");
    throw new UsageError(
      `Wrong ${from}: ${why}; "order.confirmed.*" takes any status`,
    );
  }
  return { name: `${PREFIX}${targetName(url)}`, url, on };
}

function usage<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}
