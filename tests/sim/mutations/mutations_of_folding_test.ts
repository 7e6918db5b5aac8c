import { FOLDING_MUTATIONS } from "./mutations_of_folding.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(FOLDING_MUTATIONS);
