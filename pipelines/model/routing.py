"""Different models for different roles."""

from pipelines.model.protocol import Completion, Model, ModelRequest


class RoleModel:
    """Sends each request to the model of its role."""

    def __init__(self, *, planner: Model, executor: Model) -> None:
        self._models = {"planner": planner, "executor": executor}

    async def complete(self, request: ModelRequest) -> Completion:
        """Answer as the role's model does, with its errors."""
        return await self._models[request.role].complete(request)
