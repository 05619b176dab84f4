// The paper of the figures follows the reader's system.

import { useEffect, useState } from "preact/hooks";
import { DARK, LIGHT, type Theme } from "../figure/theme.ts";

const QUERY = "(prefers-color-scheme: dark)";

/** The theme that the system asks for. */
export function useTheme(): Theme {
  const [isDark, setDark] = useState(() => matchMedia(QUERY).matches);
  useEffect(() => {
    const query = matchMedia(QUERY);
    const told = () => setDark(query.matches);
    query.addEventListener("change", told);
    return () => query.removeEventListener("change", told);
  }, []);
  return isDark ? DARK : LIGHT;
}
