// The scenario's tools and prompts.

export const PROMPT = 'Customer 42 asks for order A-1. Ask me before you refund it.';
export const YES = 'yes';
export const SYSTEM = 'You are a support agent.';
export const CONVERSATION = 'conversation-1';
export const MODEL = 'gpt-4o-mini';
export const URL = process.env.MODEL_URL;

// Each tool: its description, its arguments by type, what it does.
export const TOOLS = {
  search_customer: ['Find a customer.', { id: 'string' }, async ({ id }) => {
    if (id === '42') return { customer_id: '42', name: 'Ada', revision: 'revision-13' };
    await new Promise((done) => setTimeout(done, 50)); // the second of two parallel calls ends second
    return [];
  }],
  get_order: ['Read an order.', { order_id: 'string' }, async () => ({ order_id: 'B-2', status: 'shipped' })],
  send_email: ['Send an email.', { to: 'string', body: 'string' }, async () => 'Email sent'],
  lookup_stock: ['Look up the stock.', { sku: 'string' }, async () => '{"sku":"X","qty":0}'],
  refund: ['Refund an order.', { order_id: 'string', amount: 'number' }, async () => {
    throw new Error('payment backend unavailable');
  }],
};

// Run a turn that a tool may abort.
export async function attempt(turn) {
  try {
    return await turn();
  } catch (e) {
    if (!String(e.message).includes('payment backend unavailable')) throw e;
  }
}
