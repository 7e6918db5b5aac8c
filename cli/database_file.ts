/**
 * Path of a database in a file; null for one in memory or on a server.
 *
 * @param url Address as in `RAMPKIT_DATABASE_URL`.
 */
export function databaseFile(url: string): string | null {
  if (!url.startsWith("file:") || url === "file::memory:") return null;
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
