// Package editor is the language service: what the linter and the vocabulary
// know, at the place where somebody writes.
//
// A client and the service speak the Language Server Protocol over a pair of
// streams (package rpc). Every change of a document makes a new version of it,
// which is never changed: requests look at the version they were sent for, side
// by side, while one checker lints the newest version of each document and
// pushes what it finds.
//
// What an editor asks about names comes from the tokens of the text alone (see
// outline), because text is broken most of the time that somebody writes it.
// What is right or wrong comes from the linter alone, so that an editor and
// "hostler lint" never disagree.
//
// It reads files beside the documents: assets, used recipes and the linter's
// configuration. It writes none; changes are for the client to make.
package editor
