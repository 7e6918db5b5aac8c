import { HAND_MUTATIONS } from "./mutations_of_hand.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(HAND_MUTATIONS);
