export interface Page {
  visit(visitor: string): void;
  button(): Promise<string>;
}

export declare function openPage(options: { apiKey: string; host: string }): Page;
