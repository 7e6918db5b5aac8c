import type { Ledger } from "../../../ledger/mod.ts";
import { counted } from "../../../resources/views/counted.ts";
import type { HealthPart } from "./health_part.ts";

/** Whether subscriptions get their transitions. */
export async function forwardingHealth(ledger: Ledger): Promise<HealthPart> {
  const all = await ledger.subscriptions.list();
  const name = "Forwarding";
  const sum = (part: "dead" | "retrying" | "behind") =>
    all.reduce((total, one) => total + one[part], 0);
  const dead = sum("dead");
  const retrying = sum("retrying");
  if (all.length === 0) {
    return {
      name,
      level: "unused",
      since: null,
      detail: "Nothing is forwarded, and nothing subscribed",
      advice: null,
    };
  }
  const off = all.find(({ target }) =>
    target !== null && target.offAt !== null
  );
  if (off !== undefined) {
    return {
      name,
      level: "bad",
      since: off.target?.offAt ?? null,
      detail: `${off.target?.url} is switched off, because it ` +
        `${off.target?.offReason}`,
      advice: "When it wants webhooks again: rampkit subscriptions resume " +
        off.name,
    };
  }
  if (dead > 0) {
    return {
      name,
      level: "bad",
      since: null,
      detail: `${
        counted(dead, "dead letter")
      } failed permanently after all attempts`,
      advice: "Mend the receiver, then send them again: the attention page " +
        "lists them",
    };
  }
  if (retrying > 0) {
    return {
      name,
      level: "warn",
      since: null,
      detail: `${
        retrying === 1 ? "1 delivery" : `${retrying} deliveries`
      } failed and will be tried again`,
      advice: null,
    };
  }
  return {
    name,
    level: "good",
    since: null,
    detail:
      `${counted(all.length, "subscription")} ${
        all.length === 1 ? "works" : "work"
      }; ${
        counted(Math.max(...all.map(({ behind }) => behind)), "transition")
      } ` +
      "not looked at yet",
    advice: null,
  };
}
