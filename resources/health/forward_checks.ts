import type { Ledger } from "../../ledger/mod.ts";
import { operands } from "../views/shell_word.ts";
import { counted } from "../views/counted.ts";
import { type Check, check } from "./check.ts";

/** Looks at each target that transitions are forwarded to. */
export async function forwardChecks(ledger: Ledger): Promise<Check[]> {
  const all = await ledger.subscriptions.list();
  return all.flatMap(({ name, target, lastError, ...rest }) => {
    if (target === null) return [];
    const { url, offAt, offReason } = target;
    const { dead, retrying, behind } = rest;
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
          `${url} did not take ${counted(dead, "transition")} in any attempt`,
          `Mend it, then: rampkit subscriptions retry ${operands(name)}`,
        ),
      ];
    }
    return [
      retrying > 0
        ? check(
          "Forwarding",
          "warn",
          `${url} did not take ${counted(retrying, "transition")} yet` +
            (lastError === null ? "" : `: it ${lastError}`),
          "Each is sent again over three days; mend the target",
        )
        : check(
          "Forwarding",
          "ok",
          behind === 0
            ? `${url} has everything`
            : `${url} is behind by ${counted(behind, "transition")}`,
        ),
    ];
  });
}
