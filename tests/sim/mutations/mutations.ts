import type { Mutation } from "./mutation.ts";
import { CHAIN_MUTATIONS } from "./mutations_of_chain.ts";
import { DEFENCE_MUTATIONS } from "./mutations_of_defence.ts";
import { DELIVERY_MUTATIONS } from "./mutations_of_delivery.ts";
import { ERASURE_MUTATIONS } from "./mutations_of_erasure.ts";
import { FOLDING_MUTATIONS } from "./mutations_of_folding.ts";
import { HAND_MUTATIONS } from "./mutations_of_hand.ts";
import { OUTCOME_MUTATIONS } from "./mutations_of_outcome.ts";
import { POLLING_MUTATIONS } from "./mutations_of_polling.ts";
import { RELEASE_MUTATIONS } from "./mutations_of_release.ts";
import { UPKEEP_MUTATIONS } from "./mutations_of_upkeep.ts";

/** Every rule that is broken, one at a time. */
export const MUTATIONS: readonly Mutation[] = [
  ...DELIVERY_MUTATIONS,
  ...FOLDING_MUTATIONS,
  ...POLLING_MUTATIONS,
  ...UPKEEP_MUTATIONS,
  ...RELEASE_MUTATIONS,
  ...ERASURE_MUTATIONS,
  ...HAND_MUTATIONS,
  ...OUTCOME_MUTATIONS,
  ...DEFENCE_MUTATIONS,
  ...CHAIN_MUTATIONS,
];
