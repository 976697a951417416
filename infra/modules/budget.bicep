@description('Name of the budget.')
@minLength(1)
param name string

@description('Monthly amount in the currency of the subscription.')
@minValue(1)
param amount int

@description('Start date of the budget, the first day of a month.')
@minLength(10)
@maxLength(10)
param startDate string

@description('Email address that receives notifications.')
@minLength(3)
param email string

resource budget 'Microsoft.Consumption/budgets@2024-08-01' = {
  name: name
  properties: {
    category: 'Cost'
    amount: amount
    timeGrain: 'Monthly'
    timePeriod: { startDate: startDate }
    notifications: {
      mostIsSpent: {
        enabled: true
        operator: 'GreaterThanOrEqualTo'
        threshold: 80
        thresholdType: 'Actual'
        contactEmails: [email]
      }
      willBeOverspent: {
        enabled: true
        operator: 'GreaterThan'
        threshold: 100
        thresholdType: 'Forecasted'
        contactEmails: [email]
      }
    }
  }
}
