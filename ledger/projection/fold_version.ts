/**
 * Version of the fold. Raise it whenever the same events would fold into
 * another state or another encoding: ledgers are then folded again beside the
 * live read models and swapped in.
 */
export const FOLD_VERSION = 20;
