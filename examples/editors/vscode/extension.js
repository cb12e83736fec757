"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("hostler").get("path", "hostler");
  client = new LanguageClient(
    "hostler",
    "Hostler",
    { command, args: ["lsp"] },
    {
      documentSelector: [
        { language: "hostler" },
        // Files of a recipe are checked with it, as they are typed.
        { scheme: "file", pattern: "**/files/**" },
      ],
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/{recipe.hcl,.hostler-lint.hcl,files/**}") },
    },
  );
  return client.start();
};

exports.deactivate = () => (client ? client.stop() : undefined);
