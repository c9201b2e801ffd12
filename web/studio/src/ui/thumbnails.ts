// Small pictures of the cast, made by tools/thumbnails.mjs and put in by the build.
declare const DERM_THUMBNAILS: Record<string, string>;

export const thumbnails: Readonly<Record<string, string | undefined>> = DERM_THUMBNAILS;
