"""What railctl tells as JSON, with moments as numbers to reckon with."""

import datetime
import json
from typing import Any, Optional


def moment(text: Optional[str]) -> Optional[float]:
    """The seconds since 1970; None: it never was."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() if text else None


def history(cluster: Any) -> dict[str, list[dict[str, Any]]]:
    told = json.loads(cluster.out("railctl", "history", "--json"))
    for one in [*told["timeline"], *told["actions"]]:
        one.update({key: moment(one[key]) for key in ("time", "created", "finished") if key in one})
    return told
