import type { Ledger } from "../../ledger/mod.ts";
import { operands } from "../views/shell_word.ts";
import { type Check, check } from "./check.ts";

/** Looks at each target that transitions are forwarded to. */
export async function forwardChecks(ledger: Ledger): Promise<Check[]> {
  const all = await ledger.subscriptions.list();
  return all.flatMap(({ name, target, dead, retrying, behind }) => {
    if (target === null) return [];
    const { url, offAt, offReason } = target;
    if (offAt !== null) {
      return [
        check(
          "Forwarding",
          "fail",
          `${url} is switched off since ${offAt}, because it ${offReason}`,
          "When it wants webhooks again: rampkit subscriptions resume " +
            operands(name),
        ),
      ];
    }
    if (dead > 0) {
      return [
        check(
          "Forwarding",
          "warn",
          `${url} did not take ${dead} transitions in any attempt`,
          `Mend it, then: rampkit subscriptions retry ${operands(name)}`,
        ),
      ];
    }
    return [
      retrying > 0
        ? check(
          "Forwarding",
          "warn",
          `${url} did not take ${retrying} transitions yet; they are sent again`,
          "What it answered is in: rampkit subscriptions list",
        )
        : check(
          "Forwarding",
          "ok",
          `${url} has everything but the latest ${behind} transitions`,
        ),
    ];
  });
}
