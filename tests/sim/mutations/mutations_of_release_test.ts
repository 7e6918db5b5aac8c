import { RELEASE_MUTATIONS } from "./mutations_of_release.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(RELEASE_MUTATIONS);
