"""The scenario's tools and prompts, and the telemetry that an application sets up."""

import atexit
import importlib.metadata
import os
import time

PROMPT = "Customer 42 asks for order A-1. Ask me before you refund it."
YES = "yes"
SYSTEM = "You are a support agent."
CONVERSATION = "conversation-1"
MODEL = "gpt-4o-mini"
URL = os.environ["MODEL_URL"]
INSTRUMENTS = [i for i in os.environ["RECORD_INSTRUMENTS"].split(",") if i]


def search_customer(id: str):
    """Find a customer.

    Args:
        id: The customer's id.
    """
    if id == "42":
        return {"customer_id": "42", "name": "Ada", "revision": "revision-13"}
    time.sleep(0.05)  # the second of two parallel calls ends second
    return []


def get_order(order_id: str):
    """Read an order.

    Args:
        order_id: The order's id.
    """
    return {"order_id": "B-2", "status": "shipped"}


def send_email(to: str, body: str):
    """Send an email.

    Args:
        to: The address.
        body: The text.
    """
    return "Email sent"


def lookup_stock(sku: str):
    """Look up the stock.

    Args:
        sku: The article.
    """
    return '{"sku":"X","qty":0}'


def refund(order_id: str, amount: int):
    """Refund an order.

    Args:
        order_id: The order's id.
        amount: The amount.
    """
    raise RuntimeError("payment backend unavailable")


TOOLS = [search_customer, get_order, send_email, lookup_stock, refund]
CALLS = [  # as the scripted model makes them
    ("search_customer", {"id": "42"}),
    ("search_customer", {"id": "7"}),
    ("get_order", {"order_id": "A-1"}),
    ("send_email", {"to": "ada@example.test", "body": "Your order is on its way."}),
    ("lookup_stock", {"sku": "X"}),
    ("refund", {"order_id": "A-1", "amount": 20}),
]
SCHEMAS = {
    tool.__name__: {
        "type": "object",
        "properties": {
            k: {"type": "integer" if v is int else "string"} for k, v in tool.__annotations__.items() if k != "return"
        },
        "required": [k for k in tool.__annotations__ if k != "return"],
    }
    for tool in TOOLS
}


def telemetry():
    """Export spans and log records, and start the instrumentations of this recording."""
    from opentelemetry import _logs, trace
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    logs = LoggerProvider()
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    _logs.set_logger_provider(logs)
    atexit.register(provider.shutdown)
    instrument()
    return provider


def instrument():
    for package in INSTRUMENTS:
        points = [e for e in importlib.metadata.distribution(package).entry_points if "instrumentor" in e.group]
        if not points:
            raise SystemExit(f"{package} has no instrumentor")
        for point in points:
            point.load()().instrument()


def request(turn):
    """Run a turn below the span of a web server's request."""
    from opentelemetry import trace

    with trace.get_tracer("app").start_as_current_span("POST /support"):
        return turn()


def attempt(turn):
    """Run a turn that a tool may abort."""
    try:
        return turn()
    except Exception as e:  # noqa: BLE001
        if "payment backend unavailable" not in repr(e) + repr(e.__cause__):
            raise
