"""Opening what a Run works with: the model's server and the sandbox."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from bot.progress import Display
from bot.repository_packages import default_folder, with_repository_packages
from bot.settings import Settings
from bot.solving import Equipment
from pipelines.model.embedded import EmbeddedServer
from pipelines.model.endpoint import Endpoint
from pipelines.model.protocol import Model
from pipelines.model.routing import RoleModel
from pipelines.model.weights import ensure_weights
from pipelines.run import Progress
from sandbox import SandboxBackend, choose_backend
from sandbox.threads import in_own_thread

Downloaded = Callable[[int, int], None]
"""Called with bytes done and bytes in all while weights are fetched."""


@asynccontextmanager
async def open_model(settings: Settings, *, downloaded: Downloaded | None = None) -> AsyncIterator[Model]:
    """The model of these settings; the embedded one is fetched and served where no server is named."""
    from pipelines.model.openai_client import OpenAIModel  # half of all import time, for commands that ask it

    async with AsyncExitStack() as stack:
        executor = settings.executor or await _embedded(settings, stack, downloaded)
        code = await stack.enter_async_context(OpenAIModel(executor))
        if settings.planner is None:
            yield code
            return
        plans = await stack.enter_async_context(OpenAIModel(settings.planner))
        yield RoleModel(planner=plans, executor=code)


async def _embedded(settings: Settings, stack: AsyncExitStack, downloaded: Downloaded | None) -> Endpoint:
    weights = await find_weights(settings, downloaded=downloaded)
    server = await stack.enter_async_context(EmbeddedServer(weights))
    return Endpoint(base_url=server.base_url, model=server.model, api_key=SecretStr(server.api_key))


async def find_weights(settings: Settings, *, downloaded: Downloaded | None = None) -> Path:
    """The weights of the embedded model: the user's own file, or the fetched and verified one."""
    if settings.gguf is not None:
        return settings.gguf
    return await in_own_thread(lambda: ensure_weights(folder=settings.cache_dir, progress=downloaded))


def equipment_for(settings: Settings, display: Display) -> Equipment:
    """Model and sandbox of these settings, opened together and closed in any case."""

    @asynccontextmanager
    async def opened(
        files: Mapping[str, bytes],
    ) -> AsyncIterator[tuple[Model | None, SandboxBackend | None]]:
        backend = await choose_backend(settings.sandbox, docker=settings.docker.choice())
        try:
            if settings.install_packages:
                backend = await with_repository_packages(
                    backend,
                    files,
                    folder=settings.cache_dir / "packages" if settings.cache_dir else default_folder(),
                    tell=lambda detail: display.show(Progress(stage="packages", detail=detail)),
                )
            display.show(Progress(stage="starting", detail=f"model and {backend.name} sandbox"))
            async with open_model(settings, downloaded=display.downloaded) as model:
                yield model, backend
        finally:
            await backend.close()

    return opened
