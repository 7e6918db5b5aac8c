/**
 * Where the project is found. Empty until it is known: then no package names it,
 * and no link leads nowhere.
 *
 * @module
 */

/** Address of the repository, without `.git`. */
export const repository: string = "";

/** Address of the project's page. */
export const homepage: string = "";
