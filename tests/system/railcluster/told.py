"""railctl's JSON output, with times as numbers."""

import datetime
import json
from typing import Any, Optional


def moment(text: Optional[str]) -> Optional[float]:
    """Seconds since 1970; None: never."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() if text else None


def history(cluster: Any) -> dict[str, list[dict[str, Any]]]:
    told = json.loads(cluster.out("railctl", "history", "--json"))
    for one in [*told["timeline"], *told["actions"]]:
        one.update({key: moment(one[key]) for key in ("time", "created", "finished") if key in one})
    return told
