/**
 * What histories of a shop in memory are drawn with.
 *
 * @module
 */
export { Random } from "./seeded/random.ts";
