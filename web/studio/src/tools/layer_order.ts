import type { Recipe } from 'derm';

/** Where a new layer goes so that it comes before all layers of these types; -1 = last. */
export function layerIndexBefore(recipe: Recipe, types: readonly string[]): number {
  return recipe.layers.findIndex((layer) => types.includes(layer.type));
}
