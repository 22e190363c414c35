import { PostHogProvider } from "posthog-react-native";
import { Shop } from "./Shop";

export default function App() {
  return (
    <PostHogProvider
      apiKey={process.env.EXPO_PUBLIC_POSTHOG_KEY}
      options={{ host: process.env.EXPO_PUBLIC_POSTHOG_HOST, flushAt: __DEV__ ? 1 : 20 }}
    >
      <Shop />
    </PostHogProvider>
  );
}
