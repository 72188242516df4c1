"""An agent that looks at the weather, writes a note, and asks a person before it is sent; every morning at seven.

`python examples/langgraph_agent.py` runs it once, now, and answers for the person. `make serve APP=langgraph_agent:app`
keeps it on its schedule. It needs `pip install 'foliot[langgraph]'`, and no key: the model says what is written here.
"""

import asyncio
import tempfile
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from foliot import Foliot


@tool
def weather(town: str) -> str:
    """What the weather will be like in a town."""
    return f"rain in {town} until noon"


class ScriptedModel(BaseChatModel):
    """Asks for the weather, then writes a note about it."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            answer = AIMessage(f"Take an umbrella: {last.text}.")
        else:
            answer = AIMessage("", tool_calls=[ToolCall(id="call-1", name="weather", args={"town": "Paris"})])
        answer.usage_metadata = {"input_tokens": 20, "output_tokens": 10, "total_tokens": 30}
        answer.response_metadata = {"model_name": "scripted"}
        return ChatResult(generations=[ChatGeneration(message=answer)])


# The real one: ChatAnthropic(model="...").bind_tools([weather]), or any other chat model that knows tools.
model = ScriptedModel()


async def agent(state: MessagesState) -> dict[str, Any]:
    return {"messages": [await model.ainvoke(state["messages"])]}


async def send(state: MessagesState) -> dict[str, Any]:
    answer = interrupt({"kind": "send", "note": state["messages"][-1].text})
    return {"messages": [AIMessage(f"Sent, as {answer['by']} said {answer['verdict']}.")]}


builder = StateGraph(MessagesState)
builder.add_node("agent", agent)
builder.add_node("tools", ToolNode([weather]))
builder.add_node("send", send)
builder.add_edge(START, "agent")
builder.add_conditional_edges("agent", tools_condition, {"tools": "tools", "__end__": "send"})
builder.add_edge("tools", "agent")

folder = tempfile.TemporaryDirectory(prefix="foliot-")
app = Foliot(f"sqlite:///{folder.name}/weather.db", name="weather")
note = app.langgraph("weather-note", builder, expires_in="3h")
app.schedule(cron="0 7 * * *", timezone="Europe/Paris", input="What will the weather be like in Paris?")(note)


async def main() -> None:
    async with app:
        run = app.schedules.trigger("weather-note")
        while not app.runs.list("weather-note", status="waiting"):
            await asyncio.sleep(0.1)
        print(f"{run.id} waits for an answer")
        waiting = app.runs.list("weather-note", status="waiting")[0]
        app.runs.decide(waiting.id, "approve", by="ann")
        while app.runs.get(waiting.id).ended_at is None:
            await asyncio.sleep(0.1)
        for message in app.runs.get(waiting.id).result["messages"]:
            print(f"{message['role']:>9}: {message['content']}")


if __name__ == "__main__":
    asyncio.run(main())
