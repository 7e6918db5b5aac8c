/** A database address without what may be secret: user, query and fragment. */
export function publicUrl(url: string): string {
  return url.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//");
}

/** Path of a `file:` address, `:memory:`, or null for any other address. */
export function localPath(url: string): string | null {
  if (url === ":memory:" || url === "file::memory:") return ":memory:";
  if (!url.startsWith("file:")) return null;
  const path = url.slice("file:".length).replace(
    /^\/\/(?:localhost)?(?=\/)/,
    "",
  );
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // A stray percent sign stands for itself.
  }
}
