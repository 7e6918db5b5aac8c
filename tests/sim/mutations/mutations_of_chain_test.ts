import { CHAIN_MUTATIONS } from "./mutations_of_chain.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(CHAIN_MUTATIONS);
