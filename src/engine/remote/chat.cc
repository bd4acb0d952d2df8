// Prompts of a remote engine: the server's chat template and tokenizer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hyper/llama_engine.h"
#include "src/base/http/url.h"
#include "src/base/utf8.h"
#include "src/engine/remote/remote_engine.h"
#include "src/engine/remote/wire/endpoint.h"
#include "src/engine/remote/wire/json_call.h"

namespace hyper::remote {
namespace {

constexpr double kTemplateSeconds = 60;

// A rendered prompt: its text, and its tokens where the server tells them.
struct Rendered {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;  // texts of the tokens; empty where they are not told
  std::string control;              // of a user's text, a word that became a control token
};

// Posts JSON; members of the answer are read by the caller within a try block.
Result<WireJson> Ask(base::HttpLoop& loop, const std::string& url, const WireJson& body) {
  JsonAnswer answer = PostJson(loop, url, body, kTemplateSeconds);
  return answer.ok()
             ? Result<WireJson>(std::move(answer.body))
             : Result<WireJson>(Error{ErrorCode::kUnavailable,
                                      fmt::format("{} failed: {}", url, answer.error_words)});
}

std::string PieceBytes(const WireJson& piece) {
  if (piece.is_string()) {
    return piece.get<std::string>();
  }
  std::string bytes;
  for (const WireJson& byte : piece) {
    bytes += static_cast<char>(byte.get<int>());
  }
  return bytes;
}

// Appends the tokens of one text.
Status AppendTokens(base::HttpLoop& loop, const std::string& root, const std::string& model,
                    std::string_view text, bool first, bool parse_special, Rendered& out) {
  const Result<WireJson> answer = Ask(loop, root + "/tokenize",
                                      {{"model", model},
                                       {"content", text},
                                       {"prompt", text},
                                       {"add_special", first},
                                       {"add_special_tokens", first},
                                       {"parse_special", parse_special},
                                       {"with_pieces", true}});
  if (!answer) {
    return answer.error();
  }
  for (const WireJson& token : answer->at("tokens")) {
    if (token.is_object()) {
      out.ids.push_back(token.at("id").get<int32_t>());
      out.pieces.push_back(PieceBytes(token.at("piece")));
    } else {
      out.ids.push_back(token.get<int32_t>());
    }
  }
  return {};
}

bool OpensReasoning(std::string_view text) {
  constexpr std::array<std::string_view, 4> kTags = {"<think>", "[THINK]", "<thought>",
                                                     "<thinking>"};
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  return std::any_of(kTags.begin(), kTags.end(),
                     [text](std::string_view tag) { return text.ends_with(tag); });
}

// Words of a text that may name control tokens: "<...>" and "[...]" without blanks inside.
std::vector<std::string> ControlWords(std::string_view text) {
  constexpr size_t kLongest = 40;
  constexpr size_t kMost = 8;
  std::vector<std::string> words;
  for (size_t at = text.find_first_of("<["); at != std::string_view::npos && words.size() < kMost;
       at = text.find_first_of("<[", at + 1)) {
    const std::string_view word = text.substr(at, kLongest);
    const size_t end = word.find_first_of(word[0] == '<' ? "> \t\n<" : "] \t\n[", 1);
    const bool closed = end != std::string_view::npos && (word[end] == '>' || word[end] == ']');
    if (closed && end > 1 &&
        std::find(words.begin(), words.end(), word.substr(0, end + 1)) == words.end()) {
      words.emplace_back(word.substr(0, end + 1));
    }
  }
  return words;
}

// What llama-server makes of the messages, contents marked by "<mark>0x", "<mark>1x", ...
struct Marked {
  std::vector<ChatMessage> messages;
  std::string mark = "HyperMessage";
};

Marked MarkContents(std::span<const ChatMessage> messages) {
  Marked marked;
  const auto used = [&marked](const ChatMessage& message) {
    return message.content.find(marked.mark) != std::string::npos;
  };
  while (std::any_of(messages.begin(), messages.end(), used)) {
    marked.mark += 'q';
  }
  for (const ChatMessage& message : messages) {
    marked.messages.push_back(
        {message.role, fmt::format("{}{}x", marked.mark, marked.messages.size())});
  }
  return marked;
}

// Joins short pieces of a text into as many tokens as a tokenizer may make of it: the server counts
// none, and limits need a number.
std::vector<std::string> CutText(std::string_view text) {
  constexpr size_t kBytes = 4;
  std::vector<std::string> pieces;
  while (!text.empty()) {
    size_t size = std::min(kBytes, text.size());
    while (size < text.size() && base::IncompleteTail(text.substr(0, size)) > 0) {
      ++size;
    }
    pieces.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return pieces;
}

}  // namespace

std::vector<Token> RemoteEngine::PromptTokens(const std::string& text,
                                              const std::vector<int32_t>& ids,
                                              const std::vector<std::string>& pieces) {
  std::vector<Token> tokens;
  if (ids.empty()) {
    for (const std::string& piece : CutText(text)) {
      tokens.push_back(table_.Intern(kNoWireId, piece));
    }
    return tokens;
  }
  // Without texts of single tokens the first carries the whole: joined they are the prompt again.
  const bool told = pieces.size() == ids.size();
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string& whole = i == 0 ? text : std::string();
    tokens.push_back(table_.Intern(ids[i], told ? pieces[i] : whole));
  }
  return tokens;
}

Result<std::vector<Token>> RemoteEngine::TokenizeThere(std::string_view text, bool parse_special) {
  Rendered rendered;
  if (can().tokenizes) {
    const Replica& replica = replicas_[probed_];
    try {
      Status status = AppendTokens(*loop_, RootUrl(replica.url), can().model, text, false,
                                   parse_special, rendered);
      if (!status) {
        return status.error();
      }
    } catch (const WireJson::exception& failure) {
      return Error{ErrorCode::kDataLoss, fmt::format("{} returned tokens in an unknown form: {}",
                                                     replica.url, failure.what())};
    }
  }
  return PromptTokens(std::string(text), rendered.ids, rendered.pieces);
}

Result<std::vector<Token>> RemoteEngine::Tokenize(std::string_view text, bool parse_special) {
  return TokenizeThere(text, parse_special);
}

namespace {

// One server's way from messages to a prompt.
class Renderer {
 public:
  // `local_template` replaces the server's unless empty.
  Renderer(base::HttpLoop& loop, const Replica& replica, const std::string& local_template)
      : loop_(loop), root_(RootUrl(replica.url)), can_(replica.can), local_(local_template) {}

  Result<Rendered> Apply(std::span<const ChatMessage> messages, const WireJson& arguments) {
    const bool by_text = !local_.empty() || can_.chat == Abilities::Template::kApplyTemplate;
    Result<Rendered> rendered =
        by_text ? ByText(messages, arguments) : ByTokens(messages, arguments);
    if (rendered && can_.tokenizes && can_.kind != ServerKind::kLlamaServer) {
      rendered->control = ControlWordIn(messages);
    }
    return rendered;
  }

 private:
  Result<std::string> Template(std::span<const ChatMessage> messages, const WireJson& arguments) {
    if (!local_.empty()) {
      std::vector<std::pair<std::string, std::string>> pairs;
      for (const auto& [name, value] : arguments.items()) {
        pairs.emplace_back(name, value.dump());
      }
      return RenderChatTemplate(local_, messages, pairs);
    }
    const Result<WireJson> answer =
        Ask(loop_, root_ + "/apply-template",
            {{"messages", MessagesJson(messages)}, {"chat_template_kwargs", arguments}});
    return answer ? Result<std::string>(answer->at("prompt").get<std::string>())
                  : Result<std::string>(answer.error());
  }

  // llama-server, and templates of ours. Contents that would bring in control tokens are tokenized
  // apart.
  Result<Rendered> ByText(std::span<const ChatMessage> messages, const WireJson& arguments) {
    Result<std::string> text = Template(messages, arguments);
    if (!text) {
      return text.error();
    }
    Rendered rendered;
    rendered.text = *text;
    if (!can_.tokenizes) {
      return rendered;
    }
    Result<bool> plain = ArePlain(messages);
    if (!plain) {
      return plain.error();
    }
    if (!*plain) {
      return Apart(messages, arguments);
    }
    Status status = AppendTokens(loop_, root_, can_.model, rendered.text, true, true, rendered);
    return status ? Result<Rendered>(rendered) : Result<Rendered>(status.error());
  }

  // vLLM and SGLang have no way to take a text without its control tokens: a word of a user's text
  // that is one token, empty where there is none.
  std::string ControlWordIn(std::span<const ChatMessage> messages) {
    for (const ChatMessage& message : messages) {
      for (const std::string& word : ControlWords(message.content)) {
        Rendered alone;
        if (AppendTokens(loop_, root_, can_.model, word, false, true, alone) &&
            alone.ids.size() == 1) {
          return word;
        }
      }
    }
    return "";
  }

  // Whether no content reads differently with control tokens.
  Result<bool> ArePlain(std::span<const ChatMessage> messages) {
    for (const ChatMessage& message : messages) {
      if (message.content.find_first_of("<[") == std::string::npos) {
        continue;
      }
      Rendered with;
      Rendered without;
      Status status = AppendTokens(loop_, root_, can_.model, message.content, false, true, with);
      if (status) {
        status = AppendTokens(loop_, root_, can_.model, message.content, false, false, without);
      }
      if (!status) {
        return status.error();
      }
      if (with.ids != without.ids) {
        return false;
      }
    }
    return true;
  }

  Result<Rendered> Apart(std::span<const ChatMessage> messages, const WireJson& arguments) {
    const Marked marked = MarkContents(messages);
    Result<std::string> text = Template(marked.messages, arguments);
    if (!text) {
      return text.error();
    }
    Rendered rendered;
    std::string_view rest = *text;
    const auto add = [&](std::string_view piece, bool parse_special) {
      rendered.text += piece;
      return piece.empty() ? Status()
                           : AppendTokens(loop_, root_, can_.model, piece, rendered.ids.empty(),
                                          parse_special, rendered);
    };
    for (size_t i = 0; i < messages.size(); ++i) {
      const std::string mark = fmt::format("{}{}x", marked.mark, i);
      const size_t at = rest.find(mark);
      if (at == std::string_view::npos) {
        continue;  // the template leaves this message out
      }
      Status status = add(rest.substr(0, at), true);
      if (status) {
        status = add(messages[i].content, false);
      }
      if (!status) {
        return status.error();
      }
      rest.remove_prefix(at + mark.size());
    }
    Status status = add(rest, true);
    return status ? Result<Rendered>(rendered) : Result<Rendered>(status.error());
  }

  // vLLM and SGLang: the template's result comes as tokens; their text is asked for.
  Result<Rendered> ByTokens(std::span<const ChatMessage> messages, const WireJson& arguments) {
    const Result<WireJson> tokens = Ask(loop_, root_ + "/tokenize",
                                        {{"model", can_.model},
                                         {"messages", MessagesJson(messages)},
                                         {"add_generation_prompt", true},
                                         {"chat_template_kwargs", arguments}});
    if (!tokens) {
      return tokens.error();
    }
    Rendered rendered;
    rendered.ids = tokens->at("tokens").get<std::vector<int32_t>>();
    const Result<WireJson> text =
        Ask(loop_, root_ + "/detokenize",
            {{"model", can_.model}, {"tokens", rendered.ids}, {"skip_special_tokens", false}});
    if (!text) {
      return text.error();
    }
    rendered.text = text->contains("prompt") ? text->at("prompt").get<std::string>()
                                             : text->at("text").get<std::string>();
    return rendered;
  }

  base::HttpLoop& loop_;
  std::string root_;
  const Abilities& can_;
  const std::string& local_;
};

}  // namespace

Result<Prompt> RemoteEngine::RenderChat(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> template_arguments) {
  if (options_.chat_template.empty() || !can().completions) {
    if (can().chat == Abilities::Template::kPrefill) {
      return RenderForPrefill(messages, template_arguments);
    }
    if (can().chat == Abilities::Template::kNone && !can().no_continuation.empty()) {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("the server at {} applies its chat template only within a chat, and "
                               "does not continue an assistant's message there: {}; give the "
                               "template with --chat-template FILE",
                               replicas_[probed_].url, can().no_continuation)};
    }
  }
  Prompt prompt;
  Rendered rendered;
  for (const ChatMessage& message : messages) {
    prompt.question = message.role == "user" ? message.content : prompt.question;
  }
  if (can().chat == Abilities::Template::kNone && options_.chat_template.empty()) {
    prompt.warning =
        "the server applies no chat template, and none was given; the messages are plain text";
    for (const ChatMessage& message : messages) {
      rendered.text += (rendered.text.empty() ? "" : "\n\n") + message.content;
    }
  } else {
    try {
      Renderer renderer(*loop_, replicas_[probed_], options_.chat_template);
      Result<Rendered> applied =
          renderer.Apply(messages, TemplateArgumentsJson(template_arguments));
      if (!applied) {
        return Error{applied.error().code,
                     base::WithoutKey(applied.error().message, options_.api_key)};
      }
      rendered = std::move(*applied);
      if (!rendered.control.empty()) {
        Notice("control", fmt::format("the server reads {} in a message as a control token; there "
                                      "is no way to send it as plain text",
                                      rendered.control));
      }
    } catch (const WireJson::exception& failure) {
      return Error{ErrorCode::kDataLoss,
                   fmt::format("the server renders chats in an unknown form: {}", failure.what())};
    }
  }
  prompt.tokens = PromptTokens(rendered.text, rendered.ids, rendered.pieces);
  prompt.reasoning_opened = OpensReasoning(rendered.text);
  prompt.text = std::move(rendered.text);
  return prompt;
}

}  // namespace hyper::remote
