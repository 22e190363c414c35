export interface Shop {
  signUp(visitor: string, user: string, plan: string): void;
  buy(user: string, items: readonly { sku: string; price: number }[]): void;
  pricePage(user: string): Promise<string>;
  close(): Promise<void>;
}

export declare function openShop(options: { apiKey: string; host: string }): Shop;
