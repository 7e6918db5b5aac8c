import { ERASURE_MUTATIONS } from "./mutations_of_erasure.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(ERASURE_MUTATIONS);
