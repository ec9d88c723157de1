/** A place that a person shared. Source: spec channels §2.5. */
export interface NormalizedLocation {
  readonly latitude: number;
  readonly longitude: number;
  /** Metres. */
  readonly accuracy?: number | undefined;
  readonly name?: string | undefined;
  readonly address?: string | undefined;
  readonly isLive?: boolean | undefined;
  readonly source?: "pin" | "place" | "live" | undefined;
  readonly caption?: string | undefined;
}

function sourceOf(location: NormalizedLocation): "pin" | "place" | "live" {
  if (location.source) return location.source;
  if (location.isLive) return "live";
  return location.name || location.address ? "place" : "pin";
}

/** `📍 48.858400, 2.294500 ±12m`, with the caption on the next line. */
export function formatLocationText(location: NormalizedLocation): string {
  const source = sourceOf(location);
  const at = `${location.latitude.toFixed(6)}, ${location.longitude.toFixed(6)}`;
  const accuracy = location.accuracy === undefined || !Number.isFinite(location.accuracy) ? "" : ` ±${Math.round(location.accuracy)}m`;
  const place = [location.name, location.address].filter(Boolean).join(" — ");
  const line = source === "live" || location.isLive ? `🛰 Live location: ${at}${accuracy}` : place === "" ? `📍 ${at}${accuracy}` : `📍 ${place} (${at}${accuracy})`;
  return location.caption ? `${line}\n${location.caption}` : line;
}

export interface LocationContext {
  LocationLat: number;
  LocationLon: number;
  LocationAccuracy?: number | undefined;
  LocationName?: string | undefined;
  LocationAddress?: string | undefined;
  LocationSource: "pin" | "place" | "live";
  LocationIsLive: boolean;
}

export function toLocationContext(location: NormalizedLocation): LocationContext {
  const source = sourceOf(location);
  return {
    LocationLat: location.latitude, LocationLon: location.longitude, LocationAccuracy: location.accuracy, LocationName: location.name,
    LocationAddress: location.address, LocationSource: source, LocationIsLive: location.isLive ?? source === "live",
  };
}
