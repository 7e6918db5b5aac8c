import { DISABLE_RULES, type DisableRule } from "./ladder.ts";
import type { SandboxPartner } from "./sandbox_options.ts";

/** What the service allows the partner, with every default filled in. */
export function partnerOf(
  given: SandboxPartner | undefined,
): Required<SandboxPartner> {
  return {
    userCreation: true,
    cardRegistration: true,
    blocked: false,
    cardsPerUser: 5,
    amountsOptional: false,
    restrictedCountries: ["CUB", "IRN", "PRK", "SYR"],
    unsupportedStates: ["NY"],
    requestsPerSecond: null,
    ...given,
  };
}

/** Throws unless `rule` is one of the readings. */
export function checkRule(rule: DisableRule): void {
  if (DISABLE_RULES.includes(rule)) return;
  throw new RangeError(
    `Cannot set disableRule: expected ${DISABLE_RULES.join(", ")}, got ` +
      `"${rule}"`,
  );
}
