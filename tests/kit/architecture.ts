/** One row of the table of modules in ARCHITECTURE.md. */
export interface ModuleRow {
  /** A folder at the top, or a file there. */
  readonly name: string;
  /** Whether others reach it through its doors alone. */
  readonly hasDoors: boolean;
  /** The modules of ours that it may import, besides itself. */
  readonly imports: readonly string[];
}

/**
 * Reads the table of modules. Its order is the order of import.
 *
 * @param page The text of ARCHITECTURE.md.
 */
export function modulesOf(page: string): ModuleRow[] {
  const [, after = ""] = page.split("## Who may import whom");
  const [section = ""] = after.split("\n## ");
  const rows: ModuleRow[] = [];
  for (
    const [, name = "", through, imports = ""] of section.matchAll(
      /^\| `(.+?)` *\| (.+?) *\| (.+?) *\|$/gm,
    )
  ) {
    rows.push({
      name,
      hasDoors: through === "its doors",
      imports: imports === "everything above"
        ? rows.map((row) => row.name)
        : [...imports.matchAll(/`(.+?)`/g)].map(([, one = ""]) => one),
    });
  }
  return rows;
}

/**
 * Reads the tree: the folders in their order, which is the order of import.
 *
 * @param page The text of ARCHITECTURE.md.
 */
export function foldersOf(page: string): string[] {
  const tree = page.split("```")[1] ?? "";
  const path: string[] = [];
  const folders: string[] = [];
  for (const line of tree.split("\n")) {
    const [, indent = "", names = ""] = /^( *)((?:\w+\/ *)*)/.exec(line) ?? [];
    for (const [, name = ""] of names.matchAll(/(\w+)\//g)) {
      path.length = indent.length / 2;
      path.push(name);
      folders.push(path.join("/"));
    }
  }
  return folders;
}
