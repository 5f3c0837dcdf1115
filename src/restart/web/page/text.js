// Numbers, times and lists of hosts as text.

const units = [
  ["d", 86400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];

// Seconds as "2 d 3 h", "4 min 10 s", "0.4 s": two units at most.
export function span(seconds) {
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 0) return `-${span(-seconds)}`;
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  let rest = Math.round(seconds);
  const parts = [];
  for (const [name, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0 || parts.length > 0) parts.push(count > 0 ? `${count} ${name}` : "");
    rest -= count * size;
    if (parts.length === 2) break;
  }
  return parts.filter((part) => part).join(" ") || "0 s";
}

// A time of the API (seconds since 1970) as the reader's clock shows it; 0 or nothing: "".
export function moment(time) {
  if (!time) return "";
  const at = new Date(time * 1000);
  const two = (number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export function number(value, digits = 1) {
  if (!Number.isFinite(value)) return "";
  return value >= 100 ? value.toFixed(0) : value.toFixed(digits);
}

export function percent(share) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(share > 0.99 ? 2 : 1)} %` : "";
}

export function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

// "n[001-003,007]", as Slurm folds it.
export function fold(hosts) {
  const groups = new Map();
  for (const host of hosts) {
    const match = /^(.*?)(\d+)$/.exec(host);
    const key = match ? `${match[1]}\n${match[2].length}` : host;
    if (!groups.has(key))
      groups.set(key, match ? { prefix: match[1], width: match[2].length, numbers: [] } : { prefix: host });
    if (match) groups.get(key).numbers.push(Number(match[2]));
  }
  return [...groups.values()]
    .map((group) => {
      if (!group.numbers) return group.prefix;
      const pad = (n) => String(n).padStart(group.width, "0");
      const numbers = [...new Set(group.numbers)].sort((a, b) => a - b);
      const ranges = [];
      for (const n of numbers) {
        const last = ranges[ranges.length - 1];
        if (last && last[1] === n - 1) last[1] = n;
        else ranges.push([n, n]);
      }
      const texts = ranges.map(([from, to]) => (from === to ? pad(from) : `${pad(from)}-${pad(to)}`));
      return texts.length === 1 && ranges[0][0] === ranges[0][1]
        ? group.prefix + texts[0]
        : `${group.prefix}[${texts.join(",")}]`;
    })
    .join(",");
}
