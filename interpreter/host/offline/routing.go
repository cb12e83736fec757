package offline

import (
	"context"

	"hostler/interpreter/host"
)

var _ host.Routing = Network{}

// Addresses is unknown.
func (Network) Addresses(context.Context, string) ([]string, error) {
	return nil, notRunning("the addresses")
}

// Routes is unknown.
func (Network) Routes(context.Context, int) ([]host.Route, error) {
	return nil, notRunning("the routes")
}

// PolicyRules is unknown.
func (Network) PolicyRules(context.Context) ([]host.PolicyRule, error) {
	return nil, notRunning("the policy rules")
}

// AddLink cannot be done.
func (Network) AddLink(context.Context, host.LinkState) error { return notRunning("the network links") }

// AddAddress cannot be done.
func (Network) AddAddress(context.Context, string, string) error { return notRunning("the addresses") }

// RemoveAddress cannot be done.
func (Network) RemoveAddress(context.Context, string, string) error {
	return notRunning("the addresses")
}

// AddRoute cannot be done.
func (Network) AddRoute(context.Context, host.Route) error { return notRunning("the routes") }

// RemoveRoute cannot be done.
func (Network) RemoveRoute(context.Context, host.Route) error { return notRunning("the routes") }

// AddRule cannot be done.
func (Network) AddRule(context.Context, host.PolicyRule) error { return notRunning("the policy rules") }

// RemoveRule cannot be done.
func (Network) RemoveRule(context.Context, host.PolicyRule) error {
	return notRunning("the policy rules")
}
