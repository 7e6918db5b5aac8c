/** What the service allows the partner. */
export interface SandboxPartner {
  /**
   * Whether users may be created.
   * @default {true}
   */
  readonly userCreation?: boolean;
  /**
   * Whether cards may be registered.
   * @default {true}
   */
  readonly cardRegistration?: boolean;
  /**
   * Whether the partner is blocked from registering cards.
   * @default {false}
   */
  readonly blocked?: boolean;
  /**
   * Cards a user may have.
   * @default {5}
   */
  readonly cardsPerUser?: number;
  /**
   * Whether a locked session may leave out both amounts, as smart-contract
   * partners do.
   * @default {false}
   */
  readonly amountsOptional?: boolean;
  /**
   * Countries no user may live in, ISO alpha-3.
   * @default {["CUB", "IRN", "PRK", "SYR"]}
   */
  readonly restrictedCountries?: readonly string[];
  /**
   * States of the USA no user may live in, ISO alpha-2.
   * @default {["NY"]}
   */
  readonly unsupportedStates?: readonly string[];
  /**
   * Requests a second allowed to each endpoint, beyond which 429 is answered;
   * null for no limit.
   * @default {null}
   */
  readonly requestsPerSecond?: number | null;
}

/** The partner's permissions, with every default filled in. */
export function partnerWithDefaults(
  given: SandboxPartner = {},
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
